f:
endbr64                              # next
push %rbp                            # next
mov %rsp,%rbp                        # next
sub $0x80,%rsp                       # next
and $-16,%rsp                        # next
mov %fs:0x28,%rax                    # next
lea 0x10(%rip),%rdi                  # next
cmpl $5,-0x14(%rbp)                  # next
movzbl (%rax,%rbx,1),%ecx            # next
mov 0x8(,%rax,8),%rdx                # next
shr %rdx                             # next
imul $0x6a8,%rdi,%rdi                # next
cvtsi2sd %eax,%xmm0                  # next
vfmadd231pd (%rax),%ymm1,%ymm2       # next
vaddps %zmm1,%zmm2,%zmm3{%k1}{z}     # next
rep movsl                            # next
lock cmpxchg %ecx,(%rbx)             # next
movabs $0x1122334455667788,%r8       # next
nopw %cs:0x0(%rax,%rax,1)            # next
je f                                 # branch
jmp g                                # jump
loop f                               # branch
call g                               # call
call *0x10(%rip)                     # call
jmp *%rax                            # jump
notrack jmp *(%rcx,%rdx,8)           # jump
syscall                              # system
int3                                 # system
hlt                                  # stop
ud2                                  # stop
leave                                # next
g: ret                               # return
ret $0x10                            # return
