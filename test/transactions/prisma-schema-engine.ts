// The engine of `prisma migrate diff` and `prisma db push`, as WebAssembly over Prisma's adapter for pg: the programs that the
// command line downloads instead are not on npm. In: a database and a schema file. Out: what each command would print.
import { readFile } from 'node:fs/promises';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg';

interface Performing {
  performIO(query: unknown): Promise<{ readonly fields: readonly { dataTypeID: number }[] }>;
}

/** The types of Node name it without its functions. */
const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: {
    instantiate(
      code: Uint8Array,
      imports: object,
    ): Promise<{ readonly instance: { readonly exports: Readonly<Record<string, unknown>> } }>;
  };
};

/** The type "char" of the catalogue as text: the adapter does not know it, and the engine asks for it. */
class PrismaPgOfCatalogue extends PrismaPg {
  override async connect() {
    const adapter = await super.connect();
    const performing = adapter as unknown as Performing;
    const perform = performing.performIO.bind(adapter);
    performing.performIO = async (query) => {
      const answer = await perform(query);
      for (const field of answer.fields) if (field.dataTypeID === 18) field.dataTypeID = 25;
      return answer;
    };
    return adapter;
  }
}

export async function openSchemaEngine(connectionString: string, schemaFile: string) {
  const program = new URL('schema_engine_bg.wasm', import.meta.resolve('@prisma/schema-engine-wasm'));
  const { instance } = await WebAssembly.instantiate(await readFile(program), {
    './schema_engine_bg.js': bindings,
  });
  (bindings as unknown as { __wbg_set_wasm(exports: unknown): void }).__wbg_set_wasm(instance.exports);
  (instance.exports.__wbindgen_start as () => void)();
  const files = [{ path: 'schema.prisma', content: schemaFile }];
  const filters = { externalTables: [], externalEnums: [] };
  const engine = await bindings.SchemaEngine.new(
    { datamodels: [['schema.prisma', schemaFile]] },
    () => {},
    bindMigrationAwareSqlAdapterFactory(new PrismaPgOfCatalogue({ connectionString })),
  );
  return {
    /** What would make the database equal to the schema file: `prisma migrate diff --script`. */
    diff: async () =>
      (
        await engine.diff({
          from: { tag: 'schemaDatasource', files, configDir: '.' },
          to: { tag: 'schemaDatamodel', files },
          script: true,
          exitCode: null,
          filters,
        })
      ).stdout,
    /** `prisma db push --accept-data-loss` */
    push: () => engine.schemaPush({ force: true, schema: { files }, filters }),
    close: () => engine.free(),
  };
}
