import { Parser } from "htmlparser2";

/**
 * The beginning of a page with at most so many elements, attributes, pieces of text and comments,
 * which take a hundred times the memory of what is written once the page is parsed. The parser that
 * will make them counts them: one that reads only nearly as it does can be led past them.
 */
export function beginningOf(html: string, most = 150_000): string {
  let parts = 0;
  let tag = 0;
  let end = html.length;
  const countFrom = (at: number) => {
    if (++parts !== most + 1) return;
    end = at;
    parser.pause();
  };
  const count = () => countFrom(parser.startIndex);
  const parser = new Parser(
    {
      onopentagname() {
        tag = parser.startIndex;
        count();
      },
      // A tag is read whole or not at all.
      onattribute: () => countFrom(tag),
      ontext: count,
      oncomment: count,
    },
    { lowerCaseAttributeNames: false },
  );
  parser.end(html);
  return html.slice(0, end);
}
