f:
stmg %r6,%r15,48(%r15)               # next
lay %r15,-160(%r15)                  # next
larl %r1,f                           # next
lgrl %r1,f                           # next
llgc %r2,0(%r3,%r4)                  # next
risbg %r1,%r2,62,191,0               # next
mvc 0(8,%r1),0(%r2)                  # next
cgije %r1,5,f                        # branch
clrjh %r1,%r2,f                      # branch
jne f                                # branch
jg g                                 # jump
brctg %r5,f                          # branch
j g                                  # jump
br %r1                               # jump
brasl %r14,g                         # call
basr %r14,%r1                        # call
bras %r14,g                          # call
bcr 0,%r0                            # next
svc 1                                # system
lmg %r6,%r15,208(%r15)               # next
g: br %r14                           # return
bner %r14                             # return?
