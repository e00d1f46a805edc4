/**
 * Words on buttons and links that buy, pay, send, delete, publish or confirm something when
 * pressed; written without diacritics.
 */
const latin = [
  /\b(?:buy|purchase|pay|donate|bid)\b/,
  /\b(?:place|submit|complete|send)\b.*\border\b|\border (?:now|and pay|with)|^order$/,
  /\b(?:transfer|withdraw|wire|send|delete|erase|publish|confirm|authori[sz]e)\b/,
  /\b(?:close|deactivate|remove|cancel) (?:\w+ )?(?:account|subscription)\b|\bsubscribe (?:and|&|now)/,
  /^(?:post|tweet|reply)\b|\bpost (?:comment|reply|review|now)\b|\bsign (?:and|document|contract)\b/,
  /\b(?:kaufen|bestellen|bezahlen|uberweisen|senden|absenden|loschen|veroffentlichen|bestatigen)\b|\bzahlungspflichtig|\bkostenpflichtig/,
  /\b(?:acheter|commander|payer|virer|envoyer|supprimer|publier|confirmer|valider)\b/,
  /\b(?:comprar|pagar|pedir|transferir|enviar|eliminar|borrar|publicar|confirmar|excluir|apagar)\b/,
  /\b(?:acquista|compra|paga|ordina|trasferisci|bonifico|invia|elimina|cancella|pubblica|conferma)\b/,
  /\b(?:kopen|bestel|bestellen|betalen|overmaken|verzenden|verwijderen|publiceren|bevestigen)\b/,
  /\b(?:kup|zapłac|zamow|przelej|wyslij|usun|opublikuj|potwierdz)/,
];
const others = [
  /[🗑🚮📤📨✉➤➣💸💳]/u,
  /купить|оплатить|заказать|перевести|отправить|удалить|опубликовать|подтвердить/,
  /购买|購買|付款|支付|下单|下單|提交订单|提交訂單|转账|轉帳|汇款|发送|傳送|發送|删除|刪除|发布|發佈|确认|確認/,
  /購入|注文|支払|振込|送金|送信|削除|公開|投稿|確定/,
  /구매|결제|주문|이체|송금|보내기|전송|삭제|게시|확인/,
];

/** The same words in the names a page gives its parts in code, word by word. */
const inCode = new Set(
  `delete del trash rubbish dustbin garbage destroy erase purge wipe send sendmail paperplane pay buy purchase donate bid transfer withdraw publish
confirm authorize authorise deactivate unsubscribe tweet loeschen senden kaufen bezahlen supprimer envoyer acheter eliminar borrar enviar comprar pagar`.split(
    /\s+/,
  ),
);
const pairsInCode = /\b(?:paper plane|trash can|place order|submit order|remove (?:account|user)|close account)\b/;

/**
 * Words in code that identify an otherwise unnamed control as one that only moves about the page.
 */
const moving =
  /\b(?:next|prev|previous|back|forward|menu|hamburger|toggle|close|dismiss|open|expand|collapse|more|less|search|filter|sort|play|pause|mute|volume|zoom|arrow|chevron|caret|tab|tabs|page|pager|slide|slider|carousel|home|refresh|reload|help|info|calendar|date|dropdown|scroll|fullscreen|grid|accordion|theme|dark|light|hide|show|up|down|left|right|plus|minus|increase|decrease)\b/;

/** A link with a longer text describes something rather than doing it. */
const longestAction = 60;

/**
 * Whether an element's name says that pressing it has consequences outside the page. When in doubt,
 * answers yes, so that a person is asked.
 */
export function hasConsequence(name: string): boolean {
  return name.replaceAll(/\s+/g, " ").trim().length <= longestAction && tellsConsequence(name);
}

/** The same for a text of any length, such as a question that OK answers. */
export function tellsConsequence(words: string): boolean {
  const text = words.replaceAll(/\s+/g, " ").trim().toLowerCase();
  const plain = text.normalize("NFD").replaceAll(/\p{M}/gu, "");
  return latin.some((action) => action.test(plain)) || others.some((action) => action.test(text));
}

/**
 * The part of the names a page gives its parts in code that says that pressing one has
 * consequences; undefined when nothing does.
 */
export function consequenceInCode(marks: readonly string[]): string | undefined {
  return marks.find((mark) => {
    const words = wordsInCode(mark);
    return words.some((word) => inCode.has(word)) || pairsInCode.test(words.join(" "));
  });
}

/** Whether those names say that pressing the element only shows another part of the page. */
export function movesInCode(marks: readonly string[]): boolean {
  return marks.some((mark) => moving.test(wordsInCode(mark).join(" ")));
}

/** Splits `btnDelete-2`, `icon_trash` and `/img/send.svg` into words. */
function wordsInCode(mark: string): string[] {
  return mark
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== "");
}
