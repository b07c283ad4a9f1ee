-- A function and one that it called, for each event: `callers` the other way round.
-- event: Name of the event.
-- function: The function that called; NULL where there is no name.
-- callee: The function that it called; NULL where there is no name.
-- function_id: The function that called.
-- callee_id: The function that it called.
-- samples: Samples with this call in their stacks.
-- period [of the event]: Sum of their periods.
SELECT event, caller AS function, function AS callee, caller_id AS function_id, function_id AS callee_id, samples, period
FROM callers
