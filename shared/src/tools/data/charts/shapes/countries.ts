import countries from "i18n-iso-countries";
import de from "i18n-iso-countries/langs/de.json" with { type: "json" };
import en from "i18n-iso-countries/langs/en.json" with { type: "json" };
import es from "i18n-iso-countries/langs/es.json" with { type: "json" };
import fr from "i18n-iso-countries/langs/fr.json" with { type: "json" };
import zh from "i18n-iso-countries/langs/zh.json" with { type: "json" };

const locales = [en, zh, de, fr, es];
for (const locale of locales) countries.registerLocale(locale);

/**
 * The number by ISO 3166-1 (three digits) of a country given by its name in English, Chinese,
 * German, French or Spanish, or by its code of two or three letters; undefined for other words.
 */
export function countryNumber(text: string): string | undefined {
  const word = text.trim();
  const isCode = /^[A-Za-z]{2,3}$/.test(word);
  const byCode = isCode ? countries.toAlpha2(word.toUpperCase()) : undefined;
  const byName = locales
    .map(({ locale }) => countries.getSimpleAlpha2Code(word, locale))
    .find((code) => code !== undefined);
  const code = byCode ?? byName;
  return code === undefined ? undefined : countries.alpha2ToNumeric(code)?.padStart(3, "0");
}
