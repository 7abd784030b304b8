// Routes for /api/v1/licences and /api/v1/bill-of-materials: components of the executable, available offline. Signed-in
// users only: they contain no inventory data, but would help strangers to find known vulnerabilities.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, VIEWER } from "../access/actor.ts";
import { DomainError } from "../base/errors.ts";
import type { Surface } from "../http/surface.ts";
import { successResponse } from "../schemas/envelope.ts";
import { Nullable, OneOf } from "../schemas/schemas.ts";
import { type BillOfMaterials, PROGRAM_PARTS } from "./bill-of-materials.ts";

const group = "Appliance";
/** IANA-registered. */
const BOM_TYPE = "application/vnd.cyclonedx+json";

const Licences = Type.Object(
  {
    components: Type.Array(
      Type.Object({
        name: Type.String(),
        version: Type.String(),
        purl: Nullable(Type.String(), { description: "A package URL: `pkg:npm/elysia@1.4.30`." }),
        licence: Nullable(Type.String(), {
          description: "An SPDX id or expression; null for several licenses or an unknown one.",
        }),
        part_of: Type.Array(OneOf(PROGRAM_PARTS), {
          description: "The server, the console, or the runtime that executes both.",
        }),
        texts: Type.Array(
          Type.Object({
            title: Type.String({ description: "Name of the file, or of the license for its standard text." }),
            text: Type.String(),
            is_standard: Type.Boolean({
              description: "Whether it is the standard text of the license, because the component includes none.",
            }),
          }),
        ),
      }),
      { description: "The program itself first, components of the runtime last." },
    ),
  },
  { $id: "Licences" },
);

/** Null if not embedded. */
export type BillOfMaterialsSource = () => Promise<BillOfMaterials | null>;

/** /api/v1/licences, /api/v1/bill-of-materials. */
export function billOfMaterialsRoutes(surface: Surface<Actor, Access>, billOf: BillOfMaterialsSource): void {
  const bill = async (): Promise<BillOfMaterials> => {
    const found = await billOf();
    if (found === null)
      throw new DomainError(
        "entity_not_found",
        "This netledger runs from its sources: only the executable has a bill of materials.",
        { entity: "bill_of_materials", id: "" },
      );
    return found;
  };
  surface
    .get(
      "/api/v1/licences",
      {
        operationId: "getLicences",
        summary: "Get the licenses of all components",
        description:
          "Every component in the executable, of the server, the console and the runtime, with its license and license texts.",
        group,
        access: VIEWER,
        responseSchema: Licences,
        isRecord: false,
        errors: ["entity_not_found"],
        example: {
          data: {
            components: [
              {
                name: "preact",
                version: "10.29.8",
                purl: "pkg:npm/preact@10.29.8",
                licence: "MIT",
                part_of: ["console"],
                texts: [{ title: "LICENSE", text: "The MIT License (MIT) …", is_standard: false }],
              },
            ],
          },
        },
      },
      async (call) => {
        const { components } = await bill();
        return successResponse(call, JSON.stringify({ components }));
      },
    )
    .get(
      "/api/v1/bill-of-materials",
      {
        operationId: "getBillOfMaterials",
        summary: "Get the bill of materials",
        description: "CycloneDX 1.6 as JSON, identical to the file that the build places next to the executable.",
        group,
        access: VIEWER,
        responseSchema: null,
        media: [
          { type: BOM_TYPE, description: "CycloneDX.", example: '{"bomFormat":"CycloneDX","specVersion":"1.6"}' },
        ],
        errors: ["entity_not_found"],
        example: { data: null },
      },
      async ({ headers }) => {
        const { bom } = await bill();
        return new Response(bom, {
          headers: {
            ...headers,
            "content-type": BOM_TYPE,
            "content-disposition": 'attachment; filename="netledger.cdx.json"',
          },
        });
      },
    );
}
