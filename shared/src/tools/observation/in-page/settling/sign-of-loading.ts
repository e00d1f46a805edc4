import type { PageDocument, PageElement, PageWindow } from "../dom.ts";

declare const document: PageDocument;
declare const window: PageWindow;

/**
 * Runs in the page, by itself: what in the window or near it says that more is to come, as
 * `"Loading…"` or `a spinner`; "" when nothing does. A text, what says that it is busy, a figure
 * that turns, or blank boxes that hold the place of a list.
 */
export function signOfLoading(): string {
  const words =
    /^(?:loading|please wait|one moment|fetching|searching|wird geladen|lade|laden|bitte warten|chargement|veuillez patienter|cargando|caricamento|carregando|加载中|正在加载|載入中|読み込み中)(?:[^.…]{0,30}(?:…|\.{3})|)$/i;
  const isSeen = (one: PageElement, least: number) => {
    const { left, top, right, bottom, width, height } = one.getBoundingClientRect();
    const near = window.innerHeight;
    const isIn = right > 0 && bottom > -near && left < window.innerWidth && top < 2 * near;
    return (
      isIn &&
      Math.min(width, height) >= least &&
      one.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    );
  };
  const textOf = (one: PageElement) => (one.textContent ?? "").trim();
  const texts = document.createTreeWalker(document.documentElement, 4);
  for (let node = texts.nextNode(), left = 5_000; node !== null && left > 0; node = texts.nextNode(), left--) {
    const text = (node.nodeValue ?? "").trim();
    const parent = node.parentElement;
    if (text.length > 60 || !words.test(text) || parent === null || textOf(parent) !== text) continue;
    if (!/^(?:SCRIPT|STYLE|OPTION|BUTTON|A)$/.test(parent.tagName) && isSeen(parent, 4)) return JSON.stringify(text);
  }
  const busy = "[aria-busy=true],[role=progressbar]:not([aria-valuenow]):not([aria-valuetext])";
  for (const one of Array.from(document.querySelectorAll(busy)))
    if (isSeen(one, 4)) return "a part that says it is busy";
  const moving = "[class*=spinner i],[class*=loader i],[class*=loading i],[class*=skeleton i],[class*=shimmer i]";
  const isMoving = (one: PageElement) =>
    (one as PageElement & { getAnimations(how: object): ReturnType<PageElement["getAnimations"]> })
      .getAnimations({ subtree: true })
      .some(({ playState, effect }) => playState === "running" && effect?.getTiming().iterations === Infinity);
  for (const one of Array.from(document.querySelectorAll(moving)).slice(0, 200))
    if (textOf(one) === "" && isSeen(one, 8) && isMoving(one)) return "a spinner or a blank that moves";
  const isBlank = (one: PageElement) => {
    if (!/^(?:DIV|SPAN|LI|P)$/.test(one.tagName) || one.childNodes.length > 0 || !isSeen(one, 10)) return false;
    const { backgroundColor, backgroundImage, cursor } = window.getComputedStyle(one);
    const isDrawn = !/^rgba\(.*, 0\)$|^transparent$/.test(backgroundColor) || backgroundImage !== "none";
    return isDrawn && cursor !== "pointer" && !one.hasAttribute("onclick") && one.getBoundingClientRect().width >= 60;
  };
  const blanks = new Map<PageElement, number>();
  for (const one of Array.from(document.querySelectorAll("div:empty,span:empty,li:empty,p:empty")).slice(0, 300)) {
    const parent = one.parentElement;
    if (parent === null || !isBlank(one)) continue;
    const count = (blanks.get(parent) ?? 0) + 1;
    if (count > 2 && textOf(parent) === "") return "blank boxes in place of a list";
    blanks.set(parent, count);
  }
  return "";
}
