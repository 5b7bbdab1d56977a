// SPDX-License-Identifier: Apache-2.0
import Metal
import SwiftUI

protocol Scaling {
    func scale(_ values: [Float], by factor: Float) throws -> [Float]
}

@main struct ScalerApp: App {
    var body: some Scene { WindowGroup { ContentView() } }
}
struct ContentView: View {
    var body: some View { Text("A view: not built here") }
}
