import { workersProject } from "../think/test/workers-project.ts";

export default workersProject({ name: "workers-ai6", root: import.meta.dirname });
