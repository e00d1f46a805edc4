/**
 * Extensions of files that people ask for as results. Anything else with a dot in it (Node.js,
 * e.g., 3.5) isn't taken for a file.
 */
const extensions =
  "md|txt|log|csv|tsv|jsonl?|ya?ml|toml|xml|html?|pdf|docx?|pptx?|xlsx?|ods|odt|epub|ics|sql|sqlite|db|parquet|ipynb|py|ts|js|sh|patch|diff|png|jpe?g|gif|svg|webp|zip|tar|t?gz";
/**
 * A match never begins inside a name, and its length is bounded: otherwise the rest of a long text
 * would be read again for each.
 */
const fileName = new RegExp(
  String.raw`(?<![\p{L}\p{N}_][./-]?)[\p{L}\p{N}_][\p{L}\p{N}_./-]{0,250}\.(?:${extensions})(?![\p{L}\p{N}_])`,
  "giu",
);

/** The files that a text names, each once; addresses on the web aren't files. */
export function namedFiles(text: string): string[] {
  return [...new Set(text.replaceAll(/\b[a-z]+:\/\/\S+/gi, " ").match(fileName) ?? [])];
}

const makes =
  /\b(?:write|create|make|produce|generate|save|store|export|build|draw|put|draft|compile|convert|output|deliver|prepare)\b|写|生成|保存|创建|制作|导出|输出|schreib|erstell|speicher|erzeug|escrib|genera|guarda|écri|crée|enregistr/iu;
/** What asks to be told rather than to be done. */
const asks = /[?？]\s*$|\b(?:how|why|what|which|explain|whether)\b|怎么|如何|什么|为什么/iu;

/** Only this much of a message is searched: in a longer one, material follows the request. */
const maxText = 100_000;

/**
 * The files that a text clearly asks to be made: it names them in a sentence that says to make
 * something and is no question, outside of what it quotes with `>`. Misses some; what it finds,
 * somebody waits for.
 */
export function filesToMake(text: string): string[] {
  const own = text.slice(0, maxText).replaceAll(/^>.*$/gm, "");
  const sentences = own.split(/(?<=[.!?])\s+|(?<=[。！？])|\n+/u);
  return [...new Set(sentences.filter((one) => makes.test(one) && !asks.test(one)).flatMap(namedFiles))];
}
