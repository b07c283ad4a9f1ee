-- A source line with the samples that were taken in its code, for each event.
-- event: Name of the event.
-- file: Source file; NULL where it is not known.
-- line: Line in it, from 1; NULL where it is not known.
-- function: The innermost function there, inlined or not.
-- samples: Samples that were taken there.
-- period [of the event]: Sum of their periods.
WITH taken AS (
  SELECT event, frame_id, count(*) AS samples, sum(period) AS period FROM samples GROUP BY event, frame_id
)
SELECT t.event, l.file, l.line, l.function, sum(t.samples) AS samples, sum(t.period) AS period
FROM taken t JOIN frame_levels l ON l.frame_id = t.frame_id AND l.level = 0
GROUP BY t.event, l.file, l.line, l.function
