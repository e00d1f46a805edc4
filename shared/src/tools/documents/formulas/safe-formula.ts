import { AppError } from "../../../core/errors.ts";

/** Functions that only compute: none reads a file, an address, another program or the machine. */
const computing = new Set(
  `ABS ACCRINT ACOS ADDRESS AGGREGATE AND ASIN ATAN ATAN2 AVEDEV AVERAGE AVERAGEA AVERAGEIF AVERAGEIFS BINOM.DIST CEILING CEILING.MATH CHAR
CHISQ.TEST CHOOSE CHOOSECOLS CLEAN CODE COLUMN COLUMNS COMBIN CONCAT CONCATENATE CONFIDENCE.NORM CONFIDENCE.T CORREL COS COUNT COUNTA COUNTBLANK
COUNTIF COUNTIFS COVARIANCE.P COVARIANCE.S CUMIPMT CUMPRINC DATE DATEDIF DATEVALUE DAY DAYS DAYS360 DB DDB DEGREES DEVSQ EDATE EOMONTH ERROR.TYPE
EVEN EXACT EXP FACT FALSE FILTER FIND FIXED FLOOR FLOOR.MATH FORECAST FORECAST.LINEAR FREQUENCY FV GCD GEOMEAN GROWTH HARMEAN HLOOKUP HOUR IF
IFERROR IFNA IFS INDEX INT INTERCEPT IPMT IRR ISBLANK ISERR ISERROR ISEVEN ISLOGICAL ISNA ISNONTEXT ISNUMBER ISODD ISOWEEKNUM ISTEXT KURT LARGE
LCM LEFT LEN LET LINEST LN LOG LOG10 LOGEST LOOKUP LOWER MATCH MAX MAXA MAXIFS MDETERM MEDIAN MID MIN MINA MINIFS MINUTE MINVERSE MIRR MMULT MOD
MODE MODE.MULT MODE.SNGL MONTH MROUND N NA NETWORKDAYS NETWORKDAYS.INTL NORM.DIST NORM.INV NORM.S.DIST NORM.S.INV NOT NOW NPER NPV NUMBERVALUE ODD
OFFSET OR PEARSON PERCENTILE PERCENTILE.EXC PERCENTILE.INC PERCENTRANK PERCENTRANK.INC PERMUT PI PMT POISSON.DIST POWER PPMT PRODUCT PROPER PV
QUARTILE QUARTILE.EXC QUARTILE.INC QUOTIENT RADIANS RAND RANDBETWEEN RANK RANK.AVG RANK.EQ RATE REPLACE REPT RIGHT ROUND ROUNDDOWN ROUNDUP ROW
ROWS RSQ SEARCH SECOND SEQUENCE SIGN SIN SKEW SLN SLOPE SMALL SORT SORTBY SQRT STANDARDIZE STDEV STDEV.P STDEV.S STDEVP STEYX SUBSTITUTE SUBTOTAL
SUM SUMIF SUMIFS SUMPRODUCT SUMSQ SUMX2MY2 SWITCH SYD T T.DIST T.INV T.TEST TAN TEXT TEXTJOIN TIME TIMEVALUE TODAY TRANSPOSE TREND TRIM TRUE TRUNC
UNIQUE UPPER VALUE VAR VAR.P VAR.S VLOOKUP WEEKDAY WEEKNUM WORKDAY WORKDAY.INTL XIRR XLOOKUP XMATCH XNPV XOR YEAR YEARFRAC Z.TEST`.split(
    /\s+/,
  ),
);

const longest = 8_000;

/**
 * The formula without its `=`. Throws `forbidden` for anything but computing with the workbook's
 * own cells: another workbook, another program (DDE), an address, or a function not known to only
 * compute. `place` is for the error's text.
 */
export function safeFormula(text: string, place: string): string {
  const formula = text.replace(/^\s*=/, "").trim();
  const refuse = (why: string) =>
    new AppError("forbidden", `The formula in ${place} is refused: ${why}. To show it as text, put ' before it.`);
  if (formula === "" || formula.length > longest) throw refuse(`a formula has 1 to ${longest} characters`);
  // What is left once texts and quoted sheet names are taken out.
  const bare = formula.replaceAll(/"(?:[^"]|"")*"/g, '""').replaceAll(/'((?:[^']|'')*)'(?=!)/g, quotedSheet);
  if (/['"]/.test(bare.replaceAll('""', ""))) throw refuse("a quote is not closed");
  if (bare.includes("|")) throw refuse("it calls another program");
  if (/[[\]]/.test(bare)) throw refuse("it refers to another workbook or a table");
  if (/[\\@{}]|:\/\//.test(bare)) throw refuse("it has signs that no computation needs");
  for (const [, name = ""] of bare.matchAll(/([\p{L}_][\p{L}\d_.]*)\s*\(/gu))
    if (!computing.has(name.toUpperCase().replace(/^_XLFN\.(?:_XLWS\.)?/, "")))
      throw refuse(`${name.slice(0, 60)} is not a function that only computes`);
  return formula;
}

/** A sheet's name without quotes; what no sheet's name may hold (a folder, a workbook) stays. */
function quotedSheet(_: string, name: string): string {
  return /[[\]\\/|:]/.test(name) ? `[${name}]` : "s";
}
