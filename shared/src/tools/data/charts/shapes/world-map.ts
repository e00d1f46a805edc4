import world from "world-atlas/countries-110m.json" with { type: "json" };
import type { Plot } from "../chart-roles.ts";
import { canvas, tip } from "./canvas.ts";
import { countryNumber } from "./countries.ts";

const land = "#e3e8e7";
const antarctica = "010";
const shapes = world.objects.countries.geometries;
const drawn = new Set(shapes.map(({ id }) => String(id)));
const outlines = {
  values: {
    ...world,
    objects: { countries: { ...world.objects.countries, geometries: shapes.filter(({ id }) => id !== antarctica) } },
  },
  format: { type: "topojson", feature: "countries" },
};
const frame = { width: canvas.width, height: 340, view: { stroke: null }, projection: { type: "equalEarth" } };
const background = { mark: { type: "geoshape", fill: land, stroke: "white", strokeWidth: 0.5, tooltip: null } };

/** Countries coloured by a value, or places as points by longitude and latitude. */
export function worldMapSpec(plot: Plot): Record<string, unknown> {
  return plot.roles.along === undefined ? ofPlaces(plot) : ofCountries(plot, plot.roles.along);
}

/**
 * Names of countries in a plot that no country has, and those of countries too small for this map.
 */
export function countriesMissing({ rows, roles: { along } }: Plot): {
  readonly unknown: readonly string[];
  readonly tooSmall: readonly string[];
} {
  const names = along === undefined ? [] : [...new Set(rows.map((row) => String(row[along])))];
  const numbers = names.map((name) => ({ name, number: countryNumber(name) }));
  return {
    unknown: numbers.filter(({ number }) => number === undefined).map(({ name }) => name),
    tooSmall: numbers.filter(({ number }) => number !== undefined && !drawn.has(number)).map(({ name }) => name),
  };
}

function ofCountries(plot: Plot, along: number): Record<string, unknown> {
  const [measure = 0] = plot.roles.measures;
  const title = plot.columns[measure]?.name ?? "";
  const values = plot.rows.map((row) => ({
    id: countryNumber(String(row[along])),
    country: row[along],
    value: row[measure] ?? null,
  }));
  const figures = values.map(({ value }) => Number(value ?? 0));
  const isSigned = Math.min(...figures) < 0 && Math.max(...figures) > 0;
  const scale = isSigned ? { scheme: "blueorange", domainMid: 0 } : { scheme: "blues" };
  return {
    ...frame,
    layer: [
      {
        data: outlines,
        layer: [
          background,
          {
            transform: [{ lookup: "id", from: { data: { values }, key: "id", fields: ["country", "value"] } }],
            mark: { type: "geoshape", stroke: "white", strokeWidth: 0.5 },
            encoding: {
              color: { field: "value", type: "quantitative", title, scale },
              tooltip: [
                tip("properties.name", plot.columns[along]?.name ?? "", "nominal"),
                tip("value", title, "quantitative"),
              ],
            },
          },
        ],
      },
    ],
  };
}

function ofPlaces(plot: Plot): Record<string, unknown> {
  const { measures, parts } = plot.roles;
  const [longitude = 0, latitude = 0, size] = measures;
  const title = (index: number | undefined) => plot.columns[index ?? 0]?.name ?? "";
  const values = plot.rows.map((row) => ({
    longitude: row[longitude],
    latitude: row[latitude],
    ...(size !== undefined && { size: row[size] }),
    ...(parts !== undefined && { series: row[parts] }),
  }));
  const tips = [
    ...(parts === undefined ? [] : [tip("series", title(parts), "nominal")]),
    tip("longitude", title(longitude), "quantitative"),
    tip("latitude", title(latitude), "quantitative"),
    ...(size === undefined ? [] : [tip("size", title(size), "quantitative")]),
  ];
  return {
    ...frame,
    layer: [
      { data: outlines, ...background },
      {
        data: { values },
        mark: { type: "circle", opacity: 0.75, stroke: "white", strokeWidth: 0.5, color: "#0f7f83" },
        encoding: {
          longitude: { field: "longitude", type: "quantitative" },
          latitude: { field: "latitude", type: "quantitative" },
          ...(size !== undefined && {
            size: { field: "size", type: "quantitative", title: title(size), scale: { rangeMax: 900 } },
          }),
          ...(parts !== undefined && { color: { field: "series", type: "nominal", sort: null, title: title(parts) } }),
          tooltip: tips,
        },
      },
    ],
  };
}
