// weight · vector + bias, for the many vectors that a layer is given.
//
// Eight rows at once, and their weights side by side: the additions of one row alone would wait for each other.

const ABREAST = 8;

export class Affine {
  // weight: R * D numbers in C order; bias: R numbers.
  constructor(weight, bias) {
    this.R = bias.length;
    this.D = weight.length / this.R;
    const blocks = Math.ceil(this.R / ABREAST);
    this.weight = new Float32Array(blocks * ABREAST * this.D);
    this.bias = new Float64Array(blocks * ABREAST);
    this.bias.set(bias);
    for (let r = 0; r < this.R; r++) {
      const start = (r - (r % ABREAST)) * this.D + (r % ABREAST);
      for (let i = 0; i < this.D; i++) this.weight[start + i * ABREAST] = weight[r * this.D + i];
    }
  }

  // A new Float64Array of R numbers; `bias` may be another one than the layer's own.
  of(vector, bias = this.bias) {
    const { D, weight } = this;
    const result = new Float64Array(this.bias.length);
    result.set(bias);
    let at = 0;
    for (let r = 0; r < result.length; r += ABREAST) {
      let [a, b, c, d, e, f, g, h] = [0, 0, 0, 0, 0, 0, 0, 0];
      for (let i = 0; i < D; i++, at += ABREAST) {
        const value = vector[i];
        a += weight[at] * value;
        b += weight[at + 1] * value;
        c += weight[at + 2] * value;
        d += weight[at + 3] * value;
        e += weight[at + 4] * value;
        f += weight[at + 5] * value;
        g += weight[at + 6] * value;
        h += weight[at + 7] * value;
      }
      result[r] += a;
      result[r + 1] += b;
      result[r + 2] += c;
      result[r + 3] += d;
      result[r + 4] += e;
      result[r + 5] += f;
      result[r + 6] += g;
      result[r + 7] += h;
    }
    return result.subarray(0, this.R);
  }
}
