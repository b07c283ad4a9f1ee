-- A function and one that called it, for each event. A sample counts once a pair, however often the pair is in its stack.
-- event: Name of the event.
-- function: The function that was called; NULL where there is no name.
-- caller: The function that called it; NULL where there is no name.
-- function_id: The function that was called.
-- caller_id: The function that called it.
-- samples: Samples with this call in their stacks.
-- period [of the event]: Sum of their periods.
WITH
  placed AS (
    SELECT stack_id, function_id, function,
           row_number() OVER (PARTITION BY stack_id ORDER BY depth, level) AS place
    FROM stack_levels
  ),
  calls AS (
    SELECT DISTINCT inner_.stack_id, inner_.function_id, inner_.function,
           outer_.function_id AS caller_id, outer_.function AS caller
    FROM placed inner_
    JOIN placed outer_ ON outer_.stack_id = inner_.stack_id AND outer_.place = inner_.place + 1
  ),
  taken AS (
    SELECT event, stack_id, count(*) AS samples, sum(period) AS period FROM samples GROUP BY event, stack_id
  )
SELECT t.event, c.function, c.caller, c.function_id, c.caller_id,
       sum(t.samples) AS samples, sum(t.period) AS period
FROM taken t JOIN calls c ON c.stack_id = t.stack_id
GROUP BY t.event, c.function, c.caller, c.function_id, c.caller_id
