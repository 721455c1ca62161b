import { createRoot } from "react-dom/client";
import { App } from "./App";
import { ready } from "./unsavedText";
import "./style/base.css";
import "./style/story.css";
import "./style/panels.css";
import "./style/map.css";

void ready.then(() => createRoot(document.getElementById("page")!).render(<App />));
