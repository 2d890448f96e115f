"""io: files, folders, URLs and pipes, and the limits on what they may ask for."""
