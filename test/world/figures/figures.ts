// All figures of a run, collected scan by scan.

import { KINDS, type Kind } from "../oracle/expectation.ts";
import { BCubed } from "./b-cubed.ts";
import { Episodes } from "./episodes.ts";
import { Presence, ratio } from "./presence.ts";
import { Versions } from "./versions.ts";

/** Names and values of a finished run; shares from 0 to 1, counts unchanged. */
export type FigureValues = Readonly<Record<FigureName, number>>;

export type FigureName =
  | "devicePrecision"
  | "deviceRecall"
  | "stationPrecision"
  | "stationRecall"
  | `${Kind}Precision`
  | `${Kind}Recall`
  | "presencePrecision"
  | "presenceRecall"
  | "places"
  | "conflictPrecision"
  | "conflictRecall"
  | "unfoundedVersions"
  | "quietVersions"
  | "pastInstants";

export class Figures {
  readonly devices = new BCubed();
  readonly stations = new BCubed();
  readonly presence = Object.fromEntries(KINDS.map((kind) => [kind, new Presence()])) as Readonly<
    Record<Kind, Presence>
  >;
  readonly conflicts = new Episodes();
  readonly versions = new Versions();
  private readonly places = { asked: 0, right: 0 };
  private readonly past = { asked: 0, same: 0 };
  readonly wrongPlaces = new Map<string, number>();

  addPlace(isRight: boolean, example: string): void {
    this.places.asked += 1;
    if (isRight) this.places.right += 1;
    else this.wrongPlaces.set(example, (this.wrongPlaces.get(example) ?? 0) + 1);
  }

  addPast(isSame: boolean): void {
    this.past.asked += 1;
    if (isSame) this.past.same += 1;
  }

  values(): FigureValues {
    const byKind = KINDS.flatMap((kind) => [
      [`${kind}Precision`, this.presence[kind].precision],
      [`${kind}Recall`, this.presence[kind].recall],
    ]);
    const mean = (part: "precision" | "recall") =>
      KINDS.reduce((sum, kind) => sum + this.presence[kind][part], 0) / KINDS.length;
    return {
      devicePrecision: this.devices.precision,
      deviceRecall: this.devices.recall,
      stationPrecision: this.stations.precision,
      stationRecall: this.stations.recall,
      ...(Object.fromEntries(byKind) as Record<`${Kind}${"Precision" | "Recall"}`, number>),
      presencePrecision: mean("precision"),
      presenceRecall: mean("recall"),
      places: ratio(this.places.right, this.places.asked),
      conflictPrecision: this.conflicts.precision,
      conflictRecall: this.conflicts.recall,
      unfoundedVersions: this.versions.unfoundedShare,
      quietVersions: this.versions.onQuietDays,
      pastInstants: ratio(this.past.same, this.past.asked),
    };
  }
}
