-- Which functions have grown since the first week? Shares in parts of a million, so that they are whole numbers.
WITH
  ends AS (SELECT min(date) AS first_week, max(date) AS last_week FROM samples),
  taken AS (
    SELECT s.date, s.function, count(*) AS samples
    FROM samples s CROSS JOIN ends e WHERE s.date = e.first_week OR s.date = e.last_week GROUP BY s.date, s.function
  ),
  whole AS (SELECT date, sum(samples) AS samples FROM taken GROUP BY date),
  shares AS (
    SELECT t.function,
           sum(CASE WHEN t.date = e.first_week THEN 1000000 * t.samples END) AS before_parts,
           sum(CASE WHEN t.date = e.last_week THEN 1000000 * t.samples END) AS after_parts,
           max(CASE WHEN t.date = e.first_week THEN w.samples END) AS before_whole,
           max(CASE WHEN t.date = e.last_week THEN w.samples END) AS after_whole
    FROM taken t JOIN whole w ON w.date = t.date CROSS JOIN ends e GROUP BY t.function
  )
SELECT function, coalesce(before_parts, 0) AS before_parts, coalesce(after_parts, 0) AS after_parts
FROM shares WHERE function IS NOT NULL
ORDER BY coalesce(1.0 * after_parts / after_whole, 0) - coalesce(1.0 * before_parts / before_whole, 0) DESC, function LIMIT 10
