// Version and components of netledger, each with its license and license text, available offline.

import { useState } from "preact/hooks";
import { type DataOf, read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { Fact } from "../components/facts.tsx";
import { Paged } from "../components/paged.tsx";
import { Problem } from "../components/problem.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { Section } from "../components/section.tsx";
import { may } from "../session/me.ts";
import { settingsText } from "../text/settings.ts";
import { SettingsPage } from "./settings-page.tsx";

type Component = DataOf<"/api/v1/licences">["components"][number];

const LICENSES = read("/api/v1/licences");
const VERSION = read("/api/version");

export function AboutPage() {
  const version = useResponse(VERSION);
  const licenses = useResponse(may("getLicences") ? LICENSES : null);
  return (
    <SettingsPage title={settingsText.tabs.about} operation="getLicences" reads={[VERSION.url, LICENSES.url]}>
      <Section title="Program" className="part">
        {version.problem !== undefined && <Problem problem={version.problem} retry={version.retry} />}
        <dl class="facts">
          <Fact name="Version">{version.data?.version}</Fact>
          <Fact name="Data schema">{version.data?.schema_version}</Fact>
          <Fact name="API">{version.data?.api_version}</Fact>
          <Fact name="More">
            <a href="/handbook/changes">Changes by version</a> ·{" "}
            <a href="/handbook/dependencies">Dependencies and reasons</a>
          </Fact>
        </dl>
      </Section>
      <Section title="Licenses" className="part">
        <p class="prose">
          All components of the program with their license texts. Machine-readable:{" "}
          <a href="/api/v1/bill-of-materials" download="">
            Bill of materials (CycloneDX)
          </a>
        </p>
        <ResponseState data={licenses.data} problem={licenses.problem} retry={licenses.retry} />
        {licenses.data !== undefined && <Components components={licenses.data.components} />}
      </Section>
    </SettingsPage>
  );
}

function Components({ components }: { readonly components: readonly Component[] }) {
  return (
    <Paged
      rows={components}
      title="Licenses"
      textOf={({ name, version, licence }) => `${name} ${version} ${licence ?? ""}`}
    >
      {(rows) => (
        <ul class="licenses">
          {rows.map((component) => (
            <li key={`${component.name} ${component.version}`}>
              <ComponentLicense {...component} />
            </li>
          ))}
        </ul>
      )}
    </Paged>
  );
}

const PARTS: Readonly<Record<string, string>> = { server: "server", console: "console", runtime: "runtime" };

/** Renders the license texts only when opened, since they are long. */
function ComponentLicense({ name, version, licence, part_of, texts }: Component) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <bdi>{name}</bdi> <span class="aside">{version}</span>{" "}
        <span class="license-id">{licence ?? "multiple licenses: see its source"}</span>{" "}
        <span class="aside">{part_of.map((part) => PARTS[part]).join(", ")}</span>
      </summary>
      {isOpen && texts.length === 0 && <p class="aside">No license text included.</p>}
      {isOpen &&
        texts.map(({ title, text, is_standard }) => (
          <div key={title}>
            <p class="aside">
              {is_standard ? "No license text included. This is the standard text of the license." : title}
            </p>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable */}
            <pre class="license-text" tabIndex={0}>
              {text}
            </pre>
          </div>
        ))}
    </details>
  );
}
