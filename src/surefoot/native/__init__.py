"""The engine room: the layout of MuJoCo's memory, the callback, named views of `userdata`."""
