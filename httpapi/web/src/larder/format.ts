// Numbers, money and measures in the language of the reader.

import { decimal, type Decimal } from "./decimal";

const formats = new Map<string, Intl.NumberFormat>(); // creating one is slow

/** numberText formats an exact number in a language. */
export function numberText(value: Decimal, language: string, options: Intl.NumberFormatOptions = {}): string {
  const name = language + Object.values(options);
  let format = formats.get(name);
  if (!format) formats.set(name, (format = new Intl.NumberFormat(language, options)));
  const text = value.toString();
  return format.format(text.length < 16 ? Number(text) : (text as unknown as number)); // a long number as text, so that it stays exact
}

/** moneyText formats an amount. If cents is set, it has two decimals, like all other prices of the menu. If signed, it has "+". */
export function moneyText(amount: Decimal, language: string, currency: string, cents: boolean, signed = false): string {
  const options: Intl.NumberFormatOptions = {
    ...(signed && { signDisplay: "always" }),
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
    ...(!cents && amount.whole && { maximumFractionDigits: 0, minimumFractionDigits: 0 }),
  };
  try {
    return numberText(
      amount,
      language,
      currency ? { ...options, style: "currency", currency, currencyDisplay: "narrowSymbol" } : options,
    );
  } catch {
    // unknown currency
    return `${amount} ${currency}`;
  }
}

// The names in Intl of a unit, and of a thousandth of it.
const unitNames = new Map([
  ["kg", ["kilogram", "gram"]],
  ["liter", ["liter", "milliliter"]],
]);

/** measureText formats a size, below one kilogram or litre in grams or millilitres. Other units have no name in Intl. */
export function measureText(
  value: number | string,
  unit: string,
  language: string,
  name: (unit: string) => string,
): string {
  const units = unitNames.get(unit);
  const size = decimal(value);
  if (!units) return `${numberText(size, language)} ${name(unit)}`;
  const small = size.compare(decimal(1)) < 0;
  return numberText(small ? size.times(decimal(1000)) : size, language, {
    style: "unit",
    unit: units[small ? 1 : 0]!,
    maximumFractionDigits: 3,
  });
}
