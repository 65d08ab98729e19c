#!/usr/bin/env python3
"""Turns a shared object into a DuckDB extension: appends the 534 bytes that DuckDB reads before it loads one.

    append_extension_footer.py FILE ENGINE EXTENSION_VERSION

ENGINE is the libduckdb.so that FILE is linked with; it is asked for its version and platform, which go into the footer.
Layout: the header of a WebAssembly custom section named duckdb_signature (22 bytes), eight fields of 32 bytes, last one first,
and 256 bytes for a signature, which stay zero: the extension loads where `allow_unsigned_extensions` is set.
"""
import ctypes
import os
import sys

SECTION = b"\x00\x93\x04\x10duckdb_signature\x80\x04"
SIGNATURE = bytes(256)
METADATA_VERSION = "4"
ABI = "CPP"


class DuckDBResult(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("columns", "rows", "changed")] + [
        (name, ctypes.c_void_p) for name in ("data", "error", "internal")
    ]


def ask_engine(path):
    """Returns version and platform of an engine, through its C interface."""
    engine = ctypes.CDLL(os.path.abspath(path))
    engine.duckdb_library_version.restype = ctypes.c_char_p
    engine.duckdb_value_varchar.restype = ctypes.c_char_p
    engine.duckdb_value_varchar.argtypes = [ctypes.POINTER(DuckDBResult), ctypes.c_uint64, ctypes.c_uint64]
    database, connection, result = ctypes.c_void_p(), ctypes.c_void_p(), DuckDBResult()
    if (
        engine.duckdb_open(None, ctypes.byref(database))
        or engine.duckdb_connect(database, ctypes.byref(connection))
        or engine.duckdb_query(connection, b"PRAGMA platform", ctypes.byref(result))
    ):
        sys.exit(f"{path}: cannot be asked for its platform")
    platform = engine.duckdb_value_varchar(ctypes.byref(result), 0, 0).decode()
    version = engine.duckdb_library_version().decode()
    engine.duckdb_destroy_result(ctypes.byref(result))
    engine.duckdb_disconnect(ctypes.byref(connection))
    engine.duckdb_close(ctypes.byref(database))
    return version, platform


def footer(engine_version, platform, extension_version):
    fields = ["", "", "", ABI, extension_version, engine_version, platform, METADATA_VERSION]
    encoded = [field.encode() for field in fields]
    if any(len(field) > 32 for field in encoded):
        sys.exit(f"a field of the footer is longer than 32 bytes: {fields}")
    return SECTION + b"".join(field.ljust(32, b"\0") for field in encoded) + SIGNATURE


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    path, engine, extension_version = sys.argv[1:]
    appended = footer(*ask_engine(engine), extension_version)
    with open(path, "r+b") as file:
        size = file.seek(0, os.SEEK_END)
        if size >= len(appended):
            file.seek(-len(appended), os.SEEK_END)
            if file.read(len(SECTION)) == SECTION:
                size -= len(appended)
        file.seek(size)
        file.write(appended)


main()
