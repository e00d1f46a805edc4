/** What an input declares about itself. */
export type FieldFacts = {
  readonly type: string;
  readonly autocomplete: string;
  /** Its name, id, labels and placeholder. */
  readonly words: readonly string[];
};

type SecretKind = "password" | "card" | "one-time code" | "credential";

const names: readonly (readonly [SecretKind, RegExp])[] = [
  [
    "password",
    /pass ?-?(?:word|phrase|code)|passwd|pwd|passwort|kennwort|mot de passe|contrase[nñ]a|senha|wachtwoord|has[lł]o|пароль|密码|密碼|パスワード|비밀번호/,
  ],
  [
    "card",
    /\b(?:card|kredit(?:karte)?|carte|tarjeta|cart[aã]o) ?-?_?(?:number|no|nummer|num)|kartennummer|num[eé]ro de (?:carte|tarjeta)|cc-?_?num|\bcv[vc]2?\b|security code|\biban\b|卡号|卡號|カード番号|카드 ?번호/,
  ],
  [
    "one-time code",
    /one[- ]?time|\botp\b|\btotp\b|\bmfa\b|\b2fa\b|(?:verification|authentication|security|login|sms)[- ]?code|\bpin\b|\btan\b|验证码|驗證碼|認証コード|인증 ?번호/,
  ],
  [
    "credential",
    /api[-_ ]?key|secret|access[-_ ]?token|private[-_ ]?key|recovery[-_ ](?:code|phrase)|seed phrase|social security|\bssn\b/,
  ],
];

/**
 * Which kind of secret an input is for, by its type, its `autocomplete` and its names; undefined
 * when it is for none.
 */
export function secretAskedFor({ type, autocomplete, words }: FieldFacts): SecretKind | undefined {
  if (type === "password") return "password";
  const hints = autocomplete.toLowerCase().split(/\s+/);
  if (hints.some((hint) => hint.endsWith("-password"))) return "password";
  if (hints.includes("one-time-code")) return "one-time code";
  if (hints.some((hint) => /^cc-(?:number|csc|exp)/.test(hint))) return "card";
  // Names in code join their words: cardNumber, card_number.
  const text = words.map((word) => `${word} ${word.replaceAll(/([a-z])([A-Z])|_/g, "$1 $2")}`.toLowerCase());
  return names.find(([, pattern]) => text.some((word) => pattern.test(word)))?.[0];
}
