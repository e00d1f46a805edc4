import { RE2JS } from "re2js";

/**
 * A regular expression that somebody else wrote: `test` takes time in proportion to the text, where
 * the runtime's own may take forever and stop everything else. Throws for one that is invalid or
 * that needs backtracking (look-around, back references).
 */
export class LinearPattern extends RegExp {
  readonly #linear: RE2JS;

  constructor(source: string) {
    super(source);
    this.#linear = RE2JS.compile(RE2JS.translateRegExp(source));
  }

  override test(text: string): boolean {
    return this.#linear.test(text);
  }
}
