-- A function that a stack has, each once: recursion counts once. Where it is inlined is another row than its own code.
-- stack_id: The stack.
-- function_id: The function.
-- function: Its name; NULL where there is none.
-- inlined: Whether it is inlined there.
SELECT DISTINCT stack_id, function_id, function, inlined FROM stack_levels
