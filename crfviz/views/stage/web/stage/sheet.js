// Numbers of the style sheet that sizes need before anything is drawn. Each mirrors the rule beside it, and a test
// compares them. In pixels at the smallest text size, unless stated otherwise.

export const SHEET = {
  gap: 16, // gap of .body: between the words and the panel beside them, at any text size
  topline: 26, // min-height of .topline
  overview: 44 + 8, // height and margin of .overview, the strip over a window of a long sentence
  head: { usual: 2.43, compact: 1.86, close: 1.8 }, // height of .word, also in [data-compact] and [data-close], in em
  headMargin: 4, // lower padding of .word, at any text size
  matrixLabel: 58, // first column of .matrix-row, rounded
  matrixRow: 25.2, // height of .matrix-row
  rowBelow: 17.5, // its height in .below, the matrices under the words
  between: 20, // gap of .below, at any text size
};
