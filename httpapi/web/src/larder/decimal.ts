// Exact decimals for prices and quantities: an integer and a scale, without binary
// fractions.

const form = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/** Decimal is digits × 10^-scale. It is immutable. */
export class Decimal {
  private constructor(
    readonly digits: bigint,
    readonly scale: number,
  ) {}

  static readonly zero = new Decimal(0n, 0);

  /**
   * of parses a JSON number or its text. It returns null for anything else. A JSON
   * number with up to 15 digits is read exactly.
   */
  static of(value: unknown): Decimal | null {
    const parts = form.exec(String(value).trim());
    if (!parts) return null;
    const [, sign, whole, fraction = "", power = "0"] = parts;
    const scale = fraction.length - Number(power);
    const digits = BigInt(sign! + whole + fraction);
    return scale >= 0 ? new Decimal(digits, scale) : new Decimal(digits * 10n ** BigInt(-scale), 0);
  }

  plus(other: Decimal): Decimal {
    const scale = Math.max(this.scale, other.scale);
    return new Decimal(this.at(scale) + other.at(scale), scale);
  }

  times(other: Decimal): Decimal {
    return new Decimal(this.digits * other.digits, this.scale + other.scale);
  }

  /** compare returns -1, 0 or 1 if this is less than, equal to or greater than other. */
  compare(other: Decimal): number {
    const scale = Math.max(this.scale, other.scale);
    const [a, b] = [this.at(scale), other.at(scale)];
    return Number(a > b) - Number(a < b);
  }

  /** round rounds half away from zero to a number of decimal places. */
  round(places = 2): Decimal {
    if (this.scale <= places) return this;
    const unit = 10n ** BigInt(this.scale - places);
    const half = this.digits < 0n ? -unit / 2n : unit / 2n;
    return new Decimal((this.digits + half) / unit, places);
  }

  get whole(): boolean {
    return this.digits % 10n ** BigInt(this.scale) === 0n;
  }

  /** toString returns plain digits without trailing zeros, such as "199.9". */
  toString(): string {
    const sign = this.digits < 0n ? "-" : "";
    const text = (this.digits < 0n ? -this.digits : this.digits).toString().padStart(this.scale + 1, "0");
    const whole = text.slice(0, text.length - this.scale);
    const fraction = text.slice(text.length - this.scale).replace(/0+$/, "");
    return sign + whole + (fraction && "." + fraction);
  }

  private at(scale: number): bigint {
    return this.digits * 10n ** BigInt(scale - this.scale);
  }
}

/** decimal parses a value that is known to be a number. Anything else is zero. */
export const decimal = (value: unknown): Decimal => Decimal.of(value) ?? Decimal.zero;
