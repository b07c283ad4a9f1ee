-- A function with what it amounts to, for each event; inlined functions have their own rows.
-- event: Name of the event.
-- function_id: The function.
-- function: Its name; NULL where there is none.
-- binary: Short name of the binary it is in.
-- address: The address of code without a name, as bits.
-- self_samples: Samples that were taken in it.
-- self_period [of the event]: Sum of their periods.
-- total_samples: Samples that have it anywhere in their stacks, each once.
-- total_period [of the event]: Sum of their periods.
WITH
  taken AS (
    SELECT event, frame_id, stack_id, count(*) AS samples, sum(period) AS period
    FROM samples GROUP BY event, frame_id, stack_id
  ),
  self AS (
    SELECT t.event, l.function_id, sum(t.samples) AS samples, sum(t.period) AS period
    FROM taken t JOIN frame_levels l ON l.frame_id = t.frame_id AND l.level = 0
    GROUP BY t.event, l.function_id
  ),
  total AS (
    SELECT t.event, f.function_id, sum(t.samples) AS samples, sum(t.period) AS period
    FROM taken t JOIN stack_functions f ON f.stack_id = t.stack_id
    GROUP BY t.event, f.function_id
  )
SELECT total.event, total.function_id, s.function, s.binary, s.address,
       coalesce(self.samples, 0) AS self_samples, coalesce(self.period, 0) AS self_period,
       total.samples AS total_samples, total.period AS total_period
FROM total
JOIN symbols s ON s.function_id = total.function_id
LEFT JOIN self ON self.function_id = total.function_id AND self.event IS NOT DISTINCT FROM total.event
