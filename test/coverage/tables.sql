-- The tables of the cases. $folder is a folder of the test's own; a statement with $file runs for 0, 1 and 2.
-- Equal keys lie in different files.

COPY (
	SELECT i * 3 + $file AS id,
		CASE WHEN i % 17 < 16 THEN (i * 7 + $file * 3) % 11 END::INTEGER AS k,
		((i + $file) % 3)::SMALLINT AS h,
		'g' || (i % 5) AS g,
		CASE WHEN i % 6 < 5 THEN (i * 5 + $file) % 50 END::INTEGER AS v,
		((i * 13) % 40)::DOUBLE / 4 AS d,
		7 AS one,
		'x' AS word,
		i % 3 = 0 AS b,
		DATE '2026-01-01' + ((i * 11) % 300)::INTEGER AS day,
		[i % 4, $file, NULL] AS list,
		{'a': i % 4} AS s
	FROM range(400) t(i)
) TO '$folder/fact_$file.parquet' (FORMAT parquet, ROW_GROUP_SIZE 2048);

COPY (FROM '$folder/fact_$file.parquet' LIMIT 40) TO '$folder/few_$file.parquet' (FORMAT parquet);

COPY (
	SELECT ((i * 5 + $file) % 13)::INTEGER AS k,
		'n' || (i % 7) AS name,
		(i * 3 + $file)::INTEGER AS x,
		DATE '2026-01-01' + (i * 9)::INTEGER AS since
	FROM range(25) t(i)
) TO '$folder/dim_$file.parquet' (FORMAT parquet);

CREATE VIEW fact AS SELECT * FROM '$folder/fact_*.parquet';

CREATE VIEW few AS SELECT * FROM '$folder/few_*.parquet';

CREATE VIEW dim AS SELECT * FROM '$folder/dim_*.parquet';
