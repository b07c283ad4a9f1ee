	.text
	.globl by_hand
	.type by_hand, @function
by_hand:
	mov %edi, %eax
	ret
	.size by_hand, . - by_hand
	.section .note.GNU-stack,"",@progbits
