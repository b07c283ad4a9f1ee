/* Symbols as people write them by hand: labels without type or size, hidden ones, names in one place. Each part runs
   for some time. */
    .macro spin
    mov $4000000, %rcx
1:  dec %rcx
    jnz 1b
    .endm

    .text
    .globl main
    .type main, @function
main:
    push %rbx
    mov $6, %ebx
again:
    spin
    call plain_label
    call hidden_label
    call no_size
    call short_size
    call two_names
    call label_and_function
    call in_other_section
    dec %ebx
    jnz again
    pop %rbx
    xor %eax, %eax
    ret
    .size main, . - main

    .globl plain_label
plain_label:
    spin
local_label:
    spin
    ret

    .globl hidden_label
    .hidden hidden_label
hidden_label:
    spin
    ret

    .globl no_size
    .type no_size, @function
no_size:
    spin
    ret

    .globl short_size
    .type short_size, @function
short_size:
    spin
    .size short_size, . - short_size
    spin
    ret

    .globl __two_names
    .type __two_names, @function
    .weak two_names_weak
    .type two_names_weak, @function
    .type two_names_local_and_long, @function
    .globl two_names
    .type two_names, @function
__two_names:
two_names_weak:
two_names_local_and_long:
two_names:
    spin
    ret
    .size __two_names, . - __two_names
    .size two_names_weak, . - two_names_weak
    .size two_names_local_and_long, . - two_names_local_and_long
    .size two_names, . - two_names

    .globl label_and_function
    .type label_and_function, @function
before_function:
label_and_function:
after_function:
    spin
    ret
    .size label_and_function, . - label_and_function

    .section .special, "ax", @progbits
in_other_section:
    spin
label_in_other_section:
    spin
    ret

    .section .note.GNU-stack, "", @progbits
