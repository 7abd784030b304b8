// Credentials with plaintext secrets, opened on each use since they may have changed. Never logged or stored.

import type { SecretBox } from "../../base/secret-box.ts";
import type { Reader } from "../../db/reading/reader.ts";
import {
  type CredentialType,
  type SecretField,
  USM_PASSWORD_MIN_LENGTH,
} from "../../resources/credentials/credential.ts";
import { secretContext, secretIn } from "../../resources/credentials/secrets.ts";
import type { SnmpCredential } from "../snmp/credential.ts";
import type { Refusal } from "./probes.ts";
import { type SecretFiles, SecretUnreadable } from "./secret-files.ts";

export type OpenedCredential =
  | { readonly ok: true; readonly credential: SnmpCredential }
  | { readonly ok: false; readonly refusal: Refusal };

const CREDENTIAL = "SELECT c.n, c.members FROM credentials c JOIN history_records r ON r.n = c.n WHERE r.id = ?";

export class OpenedCredentials {
  private readonly reader: Reader;
  private readonly box: SecretBox;
  private readonly files: SecretFiles;

  constructor(reader: Reader, box: SecretBox, files: SecretFiles) {
    this.reader = reader;
    this.box = box;
    this.files = files;
  }

  /** Returns null for a deleted credential. */
  get(id: string): OpenedCredential | null {
    return this.reader.snapshot(() => this.open(id));
  }

  private open(id: string): OpenedCredential | null {
    const rows = this.reader.statement(CREDENTIAL).values(id) as Array<[number, string]>;
    const row = rows[0];
    if (row === undefined) return null;
    const [n, members] = row;
    const { name, credential_type: type } = JSON.parse(`{${members}}`) as {
      name: string;
      credential_type: CredentialType;
    };
    try {
      const secret = (field: SecretField, minLength = 1) => this.secret(id, n, type, field, minLength);
      if (type.type !== "SnmpV3")
        return {
          ok: true,
          credential: { credential_id: id, name, version: type.type, community: secret("community") },
        };
      const credential: SnmpCredential = {
        credential_id: id,
        name,
        version: "SnmpV3",
        security_name: type.security_name,
        auth_protocol: type.auth_protocol,
        auth_password: type.auth_protocol === "None" ? null : secret("auth_password", USM_PASSWORD_MIN_LENGTH),
        priv_protocol: type.priv_protocol,
        priv_password: type.priv_protocol === "None" ? null : secret("priv_password", USM_PASSWORD_MIN_LENGTH),
        context_name: type.context_name ?? null,
      };
      return { ok: true, credential };
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      return {
        ok: false,
        refusal: {
          credential_id: id,
          reason: "secret_unreadable",
          clause: `the secret of ${name} cannot be read: ${error.message}`,
        },
      };
    }
  }

  private secret(id: string, n: number, type: CredentialType, field: SecretField, minLength: number): string {
    const secret = secretIn(type, field);
    const text = secret?.mode === "FilePath" ? this.files.read(secret.path) : this.sealed(id, n, field);
    // Secret files are not validated on configuration.
    if ([...text].length < minLength) throw new SecretUnreadable(`it has fewer than ${minLength} characters`);
    return text;
  }

  private sealed(id: string, n: number, field: SecretField): string {
    const rows = this.reader
      .statement("SELECT sealed FROM credential_secrets WHERE credential_n = ? AND field = ?")
      .values(n, field) as Array<[Uint8Array]>;
    const sealed = rows[0]?.[0];
    if (sealed === undefined || sealed.length === 0)
      throw new SecretUnreadable("it is no longer stored: enter it again");
    try {
      return this.box.open(sealed, secretContext(id, field));
    } catch {
      throw new SecretUnreadable("it was sealed with another key: enter it again");
    }
  }
}
