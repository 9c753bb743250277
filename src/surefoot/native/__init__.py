"""What kernels are made of: decorators, the layout of MuJoCo's memory, named views of it and of `userdata`."""
