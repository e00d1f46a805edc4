const notAdded =
  /\b(?:avg|average|mean|median|rate|ratio|share|percent(?:age)?|pct|index|score|price|temperature|temp|age|balance|growth|height|weight|width|length|speed|latency|level)\b|%|°|平均|均价|单价|比率|比例|占比|率|指数|温度|评分|年龄|余额|身高|体重|速度/i;

/** Whether the values of a column of this name may be summed, as far as its name tells: averages, rates and prices may not. */
export function addsUp(name: string): boolean {
  return !notAdded.test(name.replaceAll("_", " "));
}
