f:
mflr 0                               # next
std 0,16(1)                          # next
stdu 1,-32(1)                        # next
addis 2,12,2                         # next
ld 9,-28688(13)                      # next
srdi 31,31,3                         # next
mr. 30,6                             # next
fmadd 1,2,3,4                        # next
lxvd2x 45,0,3                        # next
cmpwi 9,5                            # next
beq f                                # branch
bne 7,f                              # branch
bdnz f                               # branch
b g                                  # jump
bctr                                 # jump
bl g                                 # call
bctrl                                # call
sc                                   # system
trap                                 # stop
beqlr                                # return?
mtlr 0                               # next
g: blr                               # return
