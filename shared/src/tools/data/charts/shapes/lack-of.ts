/** What a chart of this kind needs and these roles do not give it; undefined if nothing. */
export function lackOf(
  kind: string,
  { measures, parts }: { readonly measures: readonly number[]; readonly parts: number | undefined },
): string | undefined {
  const [isOne, isParted] = [measures.length < 2, parts !== undefined];
  if (kind === "stacked" && isOne && !isParted) return "A stacked chart needs a series, or several columns in y.";
  if (kind === "heatmap" && !(isOne && isParted))
    return "A heat map takes x, the column that goes down as series, and one column of numbers in y.";
  if (kind === "sankey" && !(isOne && isParted))
    return "A sankey takes x, where a flow comes from, series, where it goes to, and one column of numbers in y.";
  if (kind === "treemap" && !isOne)
    return "A treemap takes x, one column of numbers in y, and the groups as series if there are any.";
  if (kind === "wordcloud" && !(isOne && !isParted))
    return "A word cloud takes x, a word in each row, and one column of numbers in y; it has no series.";
  if (kind === "map" && !(isOne && !isParted))
    return "A map takes x, the countries, and one column of numbers in y; or x, the longitude, and y, the latitude.";
  return kind === "pie" && !(isOne && !isParted) ? "A pie has one y and no series." : undefined;
}
