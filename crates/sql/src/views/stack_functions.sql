-- A function that a stack has, each once: recursion counts once.
-- stack_id: The stack.
-- function_id: The function.
-- function: Its name; NULL where there is none.
SELECT DISTINCT stack_id, function_id, function FROM stack_levels
