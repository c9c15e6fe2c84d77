"""How large what people bring may be: beyond it nobody sees anything, and the server suffers."""

MOST_BYTES = 20_000_000  # of all files of one model, as uploaded
MOST_UNPACKED = 64_000_000  # bytes of all that an archive holds
MOST_MEMBERS = 4000  # files in an archive; each sentence may have six arrays
MOST_SENTENCES = 500
MOST_WORDS = 1000  # of a sentence
MOST_TAGS = 200
LONGEST_NAME = 60  # characters of a tag or a word
