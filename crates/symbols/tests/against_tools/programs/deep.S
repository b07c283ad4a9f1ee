/* Debug information that says: one function is inlined into itself DEPTH times. One byte for each level. */
    .text
    .globl deep
    .type deep, @function
deep:
    nop
    ret
    .size deep, . - deep

    .section .debug_abbrev, "", @progbits
    .uleb128 1              /* DW_TAG_compile_unit, with children: low_pc, high_pc */
    .uleb128 0x11
    .byte 1
    .uleb128 0x11, 0x01
    .uleb128 0x12, 0x06
    .uleb128 0, 0
    .uleb128 2              /* DW_TAG_subprogram, with children: low_pc, high_pc */
    .uleb128 0x2e
    .byte 1
    .uleb128 0x11, 0x01
    .uleb128 0x12, 0x06
    .uleb128 0, 0
    .uleb128 3              /* DW_TAG_inlined_subroutine, with children */
    .uleb128 0x1d
    .byte 1
    .uleb128 0, 0
    .byte 0

    .section .debug_info, "", @progbits
    .long end - start
start:
    .value 4
    .long 0
    .byte 8
    .uleb128 1
    .quad deep
    .long 2
    .uleb128 2
    .quad deep
    .long 2
    .rept DEPTH
    .byte 3
    .endr
    .rept DEPTH
    .byte 0
    .endr
    .byte 0, 0
end:
    .section .note.GNU-stack, "", @progbits
