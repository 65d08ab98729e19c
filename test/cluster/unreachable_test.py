#!/usr/bin/env python3
"""Addresses behind which there is no worker.

    unreachable_test.py PROGRAM
"""

import http.server
import socket
import threading

from cluster_fixture import CONNECT_LIMIT, FAILURE_LIMIT, ClusterTest, main


class UnreachableTest(ClusterTest):
    def refuse(self, address, *words, limit=FAILURE_LIMIT):
        """The address alone, and among workers that are well and must be free again."""
        workers = self.workers(2)
        for cluster in ([address], [workers[0], address, workers[1]]):
            for sql in (f"SELECT k, count(*) FROM '{self.keys}' GROUP BY k", self.scanning()):
                query = self.command(cluster, sql, "--set", "skein_retry=none")
                code, out, err = self.finish(query, limit)
                self.assertEqual((code, out), (3, ""), err)
                self.assert_one_line(err, "cannot reach worker " + address, *words)
        self.assert_free(workers)

    def test_a_port_at_which_nobody_listens(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.refuse(f"127.0.0.1:{free.getsockname()[1]}", "refused")

    def test_a_server_that_says_nothing(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            self.refuse(f"127.0.0.1:{silent.getsockname()[1]}", limit=CONNECT_LIMIT)

    def test_a_web_server(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                self.refuse(f"127.0.0.1:{server.server_address[1]}", limit=CONNECT_LIMIT)
            finally:
                server.shutdown()
                thread.join()

    def test_a_host_that_does_not_exist(self):
        query = self.command(["no-such-host.invalid:4200"], f"SELECT sum(k) FROM '{self.keys}'")
        code, out, err = self.finish(query, CONNECT_LIMIT)
        self.assertEqual((code, out), (3, ""), err)
        self.assert_one_line(err, "cannot reach worker no-such-host.invalid:4200")

    def test_the_connect_timeout_is_the_users(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            query = self.command(
                [f"127.0.0.1:{silent.getsockname()[1]}"],
                f"SELECT sum(k) FROM '{self.keys}'",
                "--set",
                "skein_connect_timeout=500ms",
            )
            code, _, err = self.finish(query, 4)
            self.assertEqual(code, 3, err)


if __name__ == "__main__":
    main()
