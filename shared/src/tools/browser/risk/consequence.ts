/** Words on buttons and links whose press buys, pays, sends, deletes, publishes or confirms something; these without the marks of their letters. */
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
  /купить|оплатить|заказать|перевести|отправить|удалить|опубликовать|подтвердить/,
  /购买|購買|付款|支付|下单|下單|提交订单|提交訂單|转账|轉帳|汇款|发送|傳送|發送|删除|刪除|发布|發佈|确认|確認/,
  /購入|注文|支払|振込|送金|送信|削除|公開|投稿|確定/,
  /구매|결제|주문|이체|송금|보내기|전송|삭제|게시|확인/,
];

/** A link whose text is longer tells of something, rather than doing it. */
const longestDeed = 60;

/** Whether what an element is called says that pressing it has consequences outside the page. Errs on the side of asking. */
export function hasConsequence(name: string): boolean {
  return name.replaceAll(/\s+/g, " ").trim().length <= longestDeed && tellsConsequence(name);
}

/** The same of a text of any length, such as a question that OK answers. */
export function tellsConsequence(words: string): boolean {
  const text = words.replaceAll(/\s+/g, " ").trim().toLowerCase();
  const plain = text.normalize("NFD").replaceAll(/\p{M}/gu, "");
  return latin.some((deed) => deed.test(plain)) || others.some((deed) => deed.test(text));
}
