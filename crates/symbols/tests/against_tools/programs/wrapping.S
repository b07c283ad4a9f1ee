/* A unit that says that its code reaches around the end of the address space. */
	.text
	.globl	plain
	.type	plain, @function
plain:
	ret
	.size	plain, . - plain

	.section .debug_abbrev, "", @progbits
	.uleb128 1	/* first abbreviation */
	.uleb128 0x11	/* DW_TAG_compile_unit */
	.byte	0	/* no children */
	.uleb128 0x11	/* DW_AT_low_pc */
	.uleb128 0x01	/* DW_FORM_addr */
	.uleb128 0x12	/* DW_AT_high_pc */
	.uleb128 0x07	/* DW_FORM_data8 */
	.byte	0, 0
	.byte	0

	.section .debug_info, "", @progbits
	.long	2f - 1f
1:	.short	4	/* version */
	.long	0	/* abbreviations */
	.byte	8	/* size of an address */
	.uleb128 1
	.quad	-16
	.quad	64
2:
	.section .note.GNU-stack, "", @progbits
