-- A function with what it amounts to, for each event. What was taken in inlined functions is the own part of the function that they are
-- inlined into; in its stacks they are functions of their own.
-- event: Name of the event.
-- function_id: The function.
-- function: Its name; NULL where there is none.
-- inlined: Whether the row is about where it is inlined; its own code has another one.
-- dso: Short name of the binary it is in.
-- address: The address of code without a name, as bits.
-- self_samples: Samples that were taken in its code, as the symbol table has it.
-- self_period [of the event]: Sum of their periods.
-- total_samples: Samples that have it anywhere in their stacks, each once.
-- total_period [of the event]: Sum of their periods.
WITH
  taken AS (
    SELECT event, stack_id, function_id, count(*) AS samples, sum(period) AS period FROM samples
    GROUP BY event, stack_id, function_id
  ),
  self AS (
    SELECT event, function_id, sum(samples) AS samples, sum(period) AS period FROM taken GROUP BY event, function_id
  ),
  -- With precise events, a sample may be taken in code that its stack does not have: the stack is of a moment later.
  counted AS (
    SELECT t.event, f.function_id, f.inlined, t.samples, t.period
    FROM taken t JOIN stack_functions f ON f.stack_id = t.stack_id
    UNION ALL
    SELECT t.event, t.function_id, FALSE AS inlined, t.samples, t.period
    FROM taken t
    LEFT JOIN stack_functions f ON f.stack_id = t.stack_id AND f.function_id = t.function_id AND NOT f.inlined
    WHERE f.stack_id IS NULL AND t.function_id IS NOT NULL
  ),
  total AS (
    SELECT event, function_id, inlined, sum(samples) AS samples, sum(period) AS period
    FROM counted
    GROUP BY event, function_id, inlined
  )
SELECT total.event, total.function_id, s.function, total.inlined, s.dso, s.address,
       coalesce(self.samples, 0) AS self_samples, coalesce(self.period, 0) AS self_period,
       total.samples AS total_samples, total.period AS total_period
FROM total
JOIN symbols s ON s.function_id = total.function_id
LEFT JOIN self
  ON self.function_id = total.function_id AND NOT total.inlined AND self.event IS NOT DISTINCT FROM total.event
