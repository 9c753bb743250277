"""What kernels are made of: the layout of MuJoCo's memory, the decorators, named views of `userdata` and of the physics."""
