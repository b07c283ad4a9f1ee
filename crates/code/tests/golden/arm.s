.syntax unified
.arch armv8-a
.fpu neon
f:
push {r4, lr}                        @ next
ldr r3, [pc, #8]                     @ next
sub sp, sp, #16                      @ next
ldr r0, [r1, r2, lsl #2]             @ next
vadd.f64 d0, d1, d2                  @ next
cmp r3, #5                           @ next
movne r0, #1                         @ next
beq f                                @ branch
bls f                                @ branch
b g                                  @ jump
bl g                                 @ call
blne g                               @ call
blx r3                               @ call
bx r3                                @ jump
ldr pc, [r1]                         @ jump
svc 0x00000000                       @ system
udf #0                               @ stop
bxeq lr                              @ return?
pop {r4, pc}                         @ return
g: bx lr                             @ return
