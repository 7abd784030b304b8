// Device types on recordings of 635 real devices, compared with the classification of the suite that they come from.

import { describe, expect, test } from "bun:test";
import { type ConcludedType, typeByReport } from "../../src/discovery/device-types/classify.ts";
import { deviceOf } from "../../src/discovery/mib/device.ts";
import { READING_PLAN } from "../../src/discovery/mib/plan.ts";
import type { DeviceType } from "../../src/resources/hosts/device-type.ts";
import { parseRecording, readsOf, recordingText, suiteRecordings } from "../support/reconcile/recorded-reads.ts";

/**
 * The suite's words for device types. Its others (appliance, management, environment, timing, …) have no counterpart.
 */
const AGREEING: Readonly<Record<string, readonly DeviceType[]>> = {
  network: ["Router", "Switch", "Layer3Switch"],
  power: ["Ups", "Pdu"],
  wireless: ["AccessPoint", "WirelessController"],
  firewall: ["Firewall"],
  server: ["Server"],
  storage: ["Storage"],
  printer: ["Printer"],
};

/** Types that differ from the suite's, with the reason why they are right, or what a recording lacks. */
const JUSTIFIED: ReadonlyArray<readonly [type: DeviceType, reason: string, ...names: string[]]> = [
  [
    "Camera",
    "network cameras by name; the suite has no word for cameras",
    ...words("axiscam_p1435-le axiscam_p1455-le axiscam_q6055-e"),
  ],
  [
    "Server",
    "the recording is of Linux on a PC (uname and net-snmp's sysObjectID); what else it is appears in no MIB that is read",
    ...words("bison dsm endrun endrun_tempus loadbalancer_vm mlos-atd mlos-nsp_ns9500 primekey-sw quantastor"),
  ],
  [
    "Server",
    "management controllers of servers",
    ...words("drac_1 fujitsuiRMC_rx300 hpe-ilo_4_with_bat_checks hpe-ilo_hpe-ilo6-with-vmware ibmc"),
  ],
  ["Server", "FortiManager is management software on a server", "fortios_fmg-7.6.4"],
  ["AccessPoint", "access points that the suite counts as network", ...words("ciscosb stellar_oaw-ap1321")],
  [
    "WirelessController",
    "controllers of access points: Meru MC1550, Juniper WLC880R, Huawei AC6605",
    ...words("fortiwlc juniper-mss vrp_ac6605-26"),
  ],
  [
    "Firewall",
    "SRX, Hillstone and Cyberoam are sold as firewalls",
    ...words("junos junos_srx3600 stoneos cyberoam-utm"),
  ],
  [
    "Router",
    "a Nokia 7750 Service Router, for which the suite has no type; an SD-WAN edge router",
    ...words("timos_7750-bgp velocloud"),
  ],
  ["Storage", "a tape library", "quantum_scalari6000"],
  ["Pdu", "a rack PDU with sensors", "rittal-cmc-iii-pu_pdu-controller"],
  ["Host", "311.1.1.3.1.1 is a Windows workstation", ...words("windows_6002c windows_7600c")],
  [
    "Host",
    "sysServices 72 is a host that offers applications (RFC 3418): sensor boxes, gateways, receivers, an intercom",
    ...words(
      "gude-esb_7213-12 gude-esb_7213-12-1 gude-esb_7214-12 heliosip morningstar-mppt packetpower-eg poweralert_2",
    ),
    ...words("volius_vs5782 volius_vs5793 wut_57605"),
  ],
];

function words(text: string): string[] {
  return text.split(" ");
}

const recordings = suiteRecordings();

describe.skipIf(recordings.length === 0)(
  "the suite's recordings (skipped without ../shared/snmp-recordings-suite)",
  () => {
    const concluded = new Map<string, ConcludedType | null>();
    const typeOf = (name: string): ConcludedType | null => {
      let type = concluded.get(name);
      if (type === undefined)
        concluded.set(
          name,
          (type = typeByReport(deviceOf(readsOf(parseRecording(recordingText(name)), READING_PLAN)))),
        );
      return type;
    };

    test("at most 30 % are Unknown; the others agree with the suite or differ for a reason", () => {
      const unknown = recordings.filter(({ name }) => typeOf(name) === null);
      expect(unknown.length / recordings.length).toBeLessThanOrEqual(0.3);
      const differing = recordings.filter(({ name, type }) => {
        const own = typeOf(name)?.device_type;
        return own !== undefined && AGREEING[type]?.includes(own) !== true;
      });
      const reasons = new Map(JUSTIFIED.flatMap(([type, , ...names]) => names.map((name) => [name, type] as const)));
      expect(Object.fromEntries(differing.map(({ name }) => [name, typeOf(name)?.device_type]))).toEqual(
        Object.fromEntries(reasons) as Record<string, DeviceType>,
      );
      // The reasons are exceptions, not the rule.
      expect(differing.length / (recordings.length - unknown.length)).toBeLessThan(0.1);
    });

    test("a type follows from the description or the sysObjectID, rarely from anything weaker", () => {
      const sources = recordings.flatMap(({ name }) => typeOf(name)?.device_type_source ?? []);
      const strong = sources.filter((source) => source === "Description" || source === "ObjectId");
      expect(strong.length / sources.length).toBeGreaterThan(0.95);
    });
  },
);
