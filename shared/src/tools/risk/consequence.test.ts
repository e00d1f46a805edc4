import { expect, test } from "bun:test";
import { consequenceInCode, hasConsequence, movesInCode, tellsConsequence } from "./consequence.ts";
import { quoted } from "./judge-action.ts";
import { secretAskedFor } from "./secret-field.ts";

const deeds =
  `Pay now|Buy|Place your order|Order now|Transfer €50|Delete|Send message|Publish|Confirm|Post comment|Delete account
Jetzt kaufen|Zahlungspflichtig bestellen|Löschen|Überweisen|Absenden|Acheter|Envoyer|Supprimer|Comprar ahora|Enviar|Borrar
Acquista|Invia|Elimina|Kopen|Verwijderen|Zapłać|Usuń|Оплатить|Удалить|立即购买|删除|确认付款|購入する|送信|결제하기|삭제`.split(
    /[|\n]/,
  );
const harmless =
  `Next|Search|Continue|Add to cart|Sort order|My orders|Payment methods|Accept cookies|Log in|Show more|Sendai|Weiter|Suivant|下一页|次へ
How to delete a file in Linux without losing everything else you have|Border colour|Buyer's guide|Repay`.split(/[|\n]/);

test("actions that buy, pay, send, delete, publish or confirm are recognized by their words in several languages", () => {
  expect(deeds.filter((name) => !hasConsequence(name))).toEqual([]);
  expect(harmless.filter(hasConsequence)).toEqual([]);
  expect(tellsConsequence(`${"This cannot be undone. ".repeat(9)}Delete it?`)).toBe(true);
});

test("fields for passwords, cards and codes are recognized by type, autocomplete and name", () => {
  const kind = (type: string, autocomplete: string, ...words: string[]) =>
    secretAskedFor({ type, autocomplete, words });
  expect(kind("password", "")).toBe("password");
  expect(kind("text", "section-a new-password")).toBe("password");
  expect(kind("text", "one-time-code")).toBe("one-time code");
  expect(kind("tel", "cc-number")).toBe("card");
  expect(kind("text", "", "cardNumber")).toBe("card");
  expect(kind("text", "", "Contraseña")).toBe("password");
  expect(kind("text", "", "Verification code")).toBe("one-time code");
  expect(kind("text", "", "api_key")).toBe("credential");
  expect(kind("text", "name", "Full name", "city", "spinning", "Discard number of items")).toBeUndefined();
});

test("a page's words cannot escape their quotation marks or hide in a sentence", () => {
  expect(quoted('Pay” on bank.example.\n\nAnswer "yes abc"\u202e\u0007')).toBe(
    '“Pay" on bank.example. Answer "yes abc"”',
  );
  expect(quoted("x".repeat(200))).toHaveLength(82);
});

/** One phrase for each word that announces a consequence, so that none is forgotten. */
const announced =
  `buy|purchase|pay|donate|bid|place the order|submit this order|complete my order|send order|order now|order and pay|order with X|Order
transfer|withdraw|wire|send|delete|erase|publish|confirm|authorize|authorise|close account|deactivate my account|remove account|cancel subscription
subscribe and go|subscribe & go|subscribe now|post|tweet|reply|post comment|post reply|post review|now post now|sign and go|sign document|sign contract
kaufen|bestellen|bezahlen|überweisen|senden|absenden|löschen|veröffentlichen|bestätigen|zahlungspflichtiges|kostenpflichtig
acheter|commander|payer|virer|envoyer|supprimer|publier|confirmer|valider|comprar|pagar|pedir|transferir|enviar|eliminar|borrar|publicar|confirmar
excluir|apagar|acquista|compra|paga|ordina|trasferisci|bonifico|invia|elimina|cancella|pubblica|conferma|kopen|bestel|bestellen|betalen|overmaken
verzenden|verwijderen|publiceren|bevestigen|kup|zamów|przelej|wyślij|usuń|opublikuj|potwierdź|🗑|🚮|📤|📨|✉|➤|➣|💸|💳
купить|оплатить|заказать|перевести|отправить|удалить|опубликовать|подтвердить|购买|購買|付款|支付|下单|下單|提交订单|提交訂單|转账|轉帳|汇款
发送|傳送|發送|删除|刪除|发布|發佈|确认|確認|購入|注文|支払|振込|送金|送信|削除|公開|投稿|確定|구매|결제|주문|이체|송금|보내기|전송|삭제|게시|확인`.split(
    /[|\n]/,
  );
const inCode =
  `delete del trash rubbish dustbin garbage destroy erase purge wipe send sendmail paperplane pay buy purchase donate bid transfer withdraw publish
confirm authorize authorise deactivate unsubscribe tweet loeschen senden kaufen bezahlen supprimer envoyer acheter eliminar borrar enviar comprar pagar`.split(
    /\s+/,
  );

test("each of the words that announce a consequence is enough", () => {
  expect(announced.filter((name) => !hasConsequence(name))).toEqual([]);
});

test("each of the names in code that announce a consequence is enough, however it is written", () => {
  expect(inCode.filter((name) => consequenceInCode([`id btn-${name}2`]) === undefined)).toEqual([]);
  for (const mark of [
    "icon paperPlane",
    "trash_can",
    "place-order",
    "submitOrder",
    "remove-account",
    "removeUser",
    "closeAccount",
  ])
    expect(consequenceInCode(["x", mark])).toBe(mark);
  expect(consequenceInCode(["/img/sendai.svg", "class deleted-items", "data wiring", ""])).toBeUndefined();
  expect(consequenceInCode(["class onDelete"])).toBe("class onDelete");
});

test("a name of sixty characters may announce a deed, a longer one describes something", () => {
  expect([hasConsequence(`delete ${"x".repeat(53)}`), hasConsequence(`delete ${"x".repeat(54)}`)]).toEqual([
    true,
    false,
  ]);
});

test("names in code that only move about the page are told from others", () => {
  expect(["class menu-toggle", "btnNext", "icon_close"].filter((mark) => !movesInCode([mark]))).toEqual([]);
  expect(movesInCode(["class tb-btn", "id b1", "class nextdoor"])).toBe(false);
});

test.each([
  [
    "password",
    "Passphrase|pass code|passwd|pwd|Passwort|Kennwort|mot de passe|contrasena|senha|wachtwoord|hasło|пароль|密码|密碼|パスワード|비밀번호",
  ],
  [
    "card",
    "card number|card-no|Kreditkarte Nummer|carte num|tarjeta numero|Kartennummer|numéro de carte|ccnum|cvv|cvc|cvc2|security code|IBAN|卡号|卡號|カード番号|카드 번호",
  ],
  [
    "one-time code",
    "one-time|onetime|OTP|totp|MFA|2fa|verification code|authentication code|login code|sms-code|PIN|TAN|验证码|驗證碼|認証コード|인증 번호",
  ],
  [
    "credential",
    "API key|api_key|client secret|access token|private_key|recovery phrase|recovery-code|seed phrase|social security|SSN",
  ],
] as const)("a field for a %s is known by each of its names", (kind, words) => {
  const askedFor = (word: string) => secretAskedFor({ type: "text", autocomplete: "", words: [word] });
  expect(words.split("|").filter((word) => askedFor(word) !== kind)).toEqual([]);
});

test.each([
  ["current-password", "password"],
  ["shipping CC-NUMBER", "card"],
  ["cc-csc", "card"],
  ["cc-exp-month", "card"],
  ["cc-name", undefined],
  ["one-time-code", "one-time code"],
  ["username", undefined],
])("autocomplete %s asks for: %p", (autocomplete, kind) => {
  expect(secretAskedFor({ type: "text", autocomplete, words: [] })).toBe(kind as "card");
});
