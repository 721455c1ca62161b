"""The writing desk: a page in the browser over `Story`, served by one process on this machine."""
