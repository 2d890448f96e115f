"""claims: what a certificate is made of: text, words, digests."""
