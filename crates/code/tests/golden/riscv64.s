.option norelax
f:
addi sp,sp,-32                       # next
sd ra,24(sp)                         # next
mv s0,a0                             # next
li a5,5                              # next
lw a4,-20(s0)                        # next
slli a4,a4,3                         # next
fadd.d fa0,fa1,fa2                   # next
amoadd.w a0,a1,(a2)                  # next
beqz a5,f                            # branch
beq a4,a5,g                          # branch
blt a4,a5,f                          # branch
j f                                  # jump
jal g                                # call
jr a5                                # jump
jalr a5                              # call
ecall                                # system
ebreak                               # stop
ld ra,24(sp)                         # next
g: ret                               # return
