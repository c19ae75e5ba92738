// The texts for guests. English is a part of the module, Russian and the texts of a
// site are loaded. "{n}" is a parameter. A text with plural forms (zero, one, two, few,
// many, other) follows the plural rules of its language.

import english from "../texts.json";
import { decimal } from "./decimal";
import { numberText } from "./format";
import { diagnose, report } from "./report";
import { orUndefined } from "./store";

export type Key = keyof typeof english;
export type Text = string | (Partial<Record<Intl.LDMLPluralRule, string>> & { other: string });
export type Texts = Record<Key, Text>;
export type Params = Record<string, string | number>;

/** Wording is the texts of one language. Missing texts are taken from the next wording. */
export interface Wording {
  language: string;
  texts: Partial<Texts>;
}

/** inEnglish has all texts. It is the last resort for each language. */
export const inEnglish: Wording = { language: "en", texts: english satisfies Texts };

const russian = new URL("./texts.ru.json", import.meta.url).href; // larder adds the version of the file
const limit = 20_000; // milliseconds
const files = new Map<string, Promise<Partial<Texts>>>(); // by address

/**
 * wordingsOf returns the wordings for a language tag, such as "ru-RU". The source has the
 * texts of the site: a table, JSON, or the address of a JSON file.
 */
export async function wordingsOf(tag: string, source: string | Partial<Texts>): Promise<Wording[]> {
  const [own, builtIn] = await Promise.all([tableOf(source), /^ru\b/i.test(tag) ? file(russian) : null]);
  return [
    ...(own ? [{ language: tag, texts: own }] : []),
    ...(builtIn ? [{ language: tag, texts: builtIn }] : []),
    inEnglish,
  ];
}

function tableOf(source: string | Partial<Texts>): Promise<Partial<Texts>> | Partial<Texts> | null {
  if (typeof source !== "string") return checked(source, "the property texts");
  if (!source.trim()) return null;
  if (!source.trim().startsWith("{")) return file(new URL(source, document.baseURI).href);
  try {
    return checked(JSON.parse(source), "the attribute texts");
  } catch (error) {
    report(`the attribute texts is not valid JSON (${error}). English is shown.`);
    return null;
  }
}

/** file loads a table once. If it cannot be loaded, the table is empty, and the next call tries again. */
function file(url: string): Promise<Partial<Texts>> {
  let table = files.get(url);
  if (!table) {
    const load = async (): Promise<Partial<Texts>> => {
      const response = await fetch(url, { credentials: "same-origin", signal: AbortSignal.timeout(limit) }); // like a preload link
      if (!response.ok) throw new Error(`status ${response.status}`);
      return checked(await response.json(), url);
    };
    files.set(
      url,
      (table = load().catch((error) => {
        files.delete(url);
        report(
          `the texts of ${url} cannot be loaded (${error}). English is shown. If the file is on another origin, that server must allow this page (CORS).`,
        );
        return {};
      })),
    );
  }
  return table;
}

/** checked returns the valid texts of a table. It reports the others, and texts with parameters that the English text does not have. */
export function checked(table: unknown, from: string): Partial<Texts> {
  const good: Partial<Texts> = {};
  let wrong = false;
  for (const [key, text] of Object.entries(table ?? {})) {
    const forms = typeof text === "string" ? { other: text } : Object(text);
    const valid =
      Object.hasOwn(english, key) &&
      typeof forms.other === "string" &&
      Object.values(forms).every((form) => typeof form === "string");
    if (valid) good[key as Key] = text;
    if (
      !valid ||
      JSON.stringify(text)
        .match(/\{\w+}/g)
        ?.some((name) => !JSON.stringify(english[key as Key]).includes(name))
    )
      wrong = true;
  }
  if (wrong) diagnose((find) => find.reportTexts(table as object, from));
  return good;
}

/** canonical returns a language tag that Intl accepts. It falls back to English. */
export function canonical(tag: string): string {
  return orUndefined(() => Intl.getCanonicalLocales(tag)[0]) ?? "en";
}

/** message returns a text of the first wording that has it. The parameter n selects the plural form. */
export function message(wordings: readonly Wording[], key: Key, params: Params = {}): string {
  const { language, texts } = wordings.find((w) => w.texts[key] !== undefined) ?? inEnglish;
  const text = texts[key]!;
  const form =
    typeof text === "string" ? text : (text[new Intl.PluralRules(language).select(Number(params.n))] ?? text.other);
  return form.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = params[name] ?? whole;
    return typeof value === "number" ? numberText(decimal(value), language) : isolated(value, language);
  });
}

const rightToLeft = /^(ar|ckb|dv|fa|he|ps|sd|ug|ur|yi)\b/,
  letters = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Thaana}]/u;

/** isolated marks a name with letters of the other direction, so that it does not reorder the text around it. */
function isolated(name: string, language: string): string {
  return rightToLeft.test(language) || letters.test(name) ? `\u2068${name}\u2069` : name;
}
