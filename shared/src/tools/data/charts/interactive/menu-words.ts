/** The menu of a chart, by language. */
export const menuWords = {
  en: { CLICK_TO_VIEW_ACTIONS: "Save the chart", SVG_ACTION: "Save as SVG", PNG_ACTION: "Save as PNG" },
  zh: { CLICK_TO_VIEW_ACTIONS: "保存图表", SVG_ACTION: "保存为 SVG", PNG_ACTION: "保存为 PNG" },
};
