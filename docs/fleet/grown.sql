-- Which functions take a larger share of a service than before the release of 21 September?
WITH
  taken AS (
    SELECT service, date >= '2026-09-21' AS is_new, function, sum(period) AS period
    FROM samples
    GROUP BY service, date >= '2026-09-21', function
  ),
  whole AS (SELECT service, is_new, sum(period) AS period FROM taken GROUP BY service, is_new),
  shares AS (
    SELECT t.service, t.function,
           max(CASE WHEN t.is_new THEN 0 ELSE 100.0 * t.period / w.period END) AS before,
           max(CASE WHEN t.is_new THEN 100.0 * t.period / w.period ELSE 0 END) AS now
    FROM taken t
    JOIN whole w ON w.service = t.service AND w.is_new = t.is_new
    WHERE t.function IS NOT NULL
    GROUP BY t.service, t.function
  )
SELECT service, function, before, now, now - before AS grown
FROM shares
ORDER BY grown DESC, service, function
LIMIT 6
